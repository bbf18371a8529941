import BeagleNetCombine
import Foundation

/// Stands in for the Relay module: an app has the real one, or this line.
enum Relay {
    typealias Network = BeagleNetCombine.Network
}

struct RequestPayload: Encodable {
    var query: String
    var operationName: String
    var variables: VariableData
}

/// The app's network on `URLSession`, with the same name as ours.
class Network: Relay.Network {
    private let graphqlURL: URL

    init(graphqlURL: URL) {
        self.graphqlURL = graphqlURL
    }

    func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, Error> {
        var message = URLRequest(url: graphqlURL)
        message.httpMethod = "POST"
        message.setValue("application/json", forHTTPHeaderField: "Content-Type")
        do {
            message.httpBody = try JSONEncoder().encode(
                RequestPayload(query: request.text!, operationName: request.name, variables: variables)
            )
        } catch {
            return Fail(error: error).eraseToAnyPublisher()
        }
        return URLSession.shared.dataTaskPublisher(for: message)
            .map { $0.data }
            .mapError { $0 as Error }
            .eraseToAnyPublisher()
    }
}

/// A network that sends nothing: it returns a stored result for each known operation, and no result for others.
class StoredNetwork: Relay.Network {
    var answers: [String: String] = [:]

    func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, Error> {
        guard let answer = answers["\(request.name)\(variables)"] else { return Empty().eraseToAnyPublisher() }
        return Just(Data(answer.utf8)).setFailureType(to: Error.self).eraseToAnyPublisher()
    }
}
