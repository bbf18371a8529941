import BeagleNetCombine
import Foundation

/// A user's credentials, in the shape of Auth0's.
class Credentials {
    let accessToken: String?

    init(accessToken: String?) {
        self.accessToken = accessToken
    }
}

enum CredentialsManagerError: Error {
    case noRefreshToken
}

/// Stores credentials, in the shape of Auth0's: if they have expired, callers wait until they are renewed.
class CredentialsManager {
    private var waiting: [(CredentialsManagerError?, Credentials?) -> Void] = []

    func credentials(callback: @escaping (CredentialsManagerError?, Credentials?) -> Void) {
        waiting.append(callback)
    }

    func renew(_ error: CredentialsManagerError?, _ credentials: Credentials?) {
        let callbacks = waiting
        waiting = []
        for callback in callbacks { callback(error, credentials) }
    }
}

/// An app that fetches credentials before each operation.
enum SignedInApp {
    struct Endpoint {
        var url: URL
    }

    class Network: Relay.Network {
        let credentialsManager: CredentialsManager
        let endpoint: Endpoint

        init(credentialsManager: CredentialsManager, endpoint: Endpoint) {
            self.credentialsManager = credentialsManager
            self.endpoint = endpoint
        }

        func execute(
            request: RequestParameters,
            variables: VariableData,
            cacheConfig: CacheConfig
        ) -> AnyPublisher<Data, Error> {
            Future<Credentials, Error> { promise in
                self.credentialsManager.credentials { error, found in
                    if let error = error {
                        promise(.failure(error as Error))
                    } else {
                        promise(.success(found!))
                    }
                }
            }.flatMap { credentials -> AnyPublisher<Data, Error> in
                var message = URLRequest(url: self.endpoint.url)
                message.httpMethod = "POST"
                message.setValue("application/json", forHTTPHeaderField: "Content-Type")
                message.setValue("Bearer \(credentials.accessToken!)", forHTTPHeaderField: "Authorization")
                do {
                    message.httpBody = try JSONEncoder().encode(
                        RequestPayload(query: request.text ?? "", operationName: request.name, variables: variables)
                    )
                } catch {
                    return Fail(error: error).eraseToAnyPublisher()
                }
                return URLSession.shared.dataTaskPublisher(for: message)
                    .map { $0.data }
                    .mapError { $0 as Error }
                    .eraseToAnyPublisher()
            }.eraseToAnyPublisher()
        }
    }
}
