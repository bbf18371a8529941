import BeagleNet
import Foundation

/// The smallest client that an app can write. It returns its own response to every request.
///
/// Added for Swift 6: `final`.
final class CustomNetworkClient: NetworkClient {
    func executeRequest(
        _ request: Request,
        completion: @escaping RequestCompletion
    ) -> RequestToken? {
        let requestType = request.type
        let url: URL = request.url
        let headers = request.additionalData
        let kind: String
        switch requestType {
        case .fetchComponent: kind = "component"
        case .fetchImage: kind = "image"
        case .submitForm(let form): kind = "\(form.method.rawValue) form of \(form.values.count)"
        case .rawRequest(let data): kind = "raw \(data.method ?? "GET")"
        }
        completion(.success(.init(text: "\(kind) at \(url.path) with \(headers?.headers ?? [:])")))
        return nil
    }
}
