// Public as in an app's framework, which doesn't have to follow our documentation rule.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import BeagleNet
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's own client on `URLSession`, with the same name as ours.
public class NetworkClientDefault: NetworkClient {

    enum ClientError: Swift.Error {
        case invalidHttpRequest
        case invalidHttpResponse
    }

    public typealias Dependencies = DependencyLogger

    public var httpRequestBuilder = HttpRequestBuilder()
    public var session = URLSession.shared

    let dependencies: Dependencies

    public init(dependencies: DependencyLogger) {
        self.dependencies = dependencies
    }

    public func executeRequest(
        _ request: Request,
        completion: @escaping RequestCompletion
    ) -> RequestToken? {
        let message = httpRequestBuilder.build(
            url: request.url,
            requestType: request.type,
            additionalData: request.additionalData as? HttpAdditionalData
        ).toUrlRequest()

        let running = session.dataTask(with: message) { [weak self] body, head, failure in
            guard let client = self else { return }
            let logged = Log.network(.httpResponse(response: .init(data: body, response: head)))
            client.dependencies.logger.log(logged)
            completion(client.outcome(data: body, request: message, response: head, error: failure))
        }
        dependencies.logger.log(Log.network(.httpRequest(request: .init(url: message))))
        running.resume()
        return running
    }

    private func outcome(
        data: Data?,
        request: URLRequest,
        response: URLResponse?,
        error: Swift.Error?
    ) -> NetworkClient.NetworkResult {
        if let lost = error {
            return .failure(NetworkError(error: lost, request: request))
        }
        if let http = response as? HTTPURLResponse, let body = data, 200...299 ~= http.statusCode {
            return .success(.init(data: body, response: http))
        }
        return .failure(
            NetworkError(
                error: ClientError.invalidHttpResponse,
                data: data,
                request: request,
                response: response
            )
        )
    }
}
