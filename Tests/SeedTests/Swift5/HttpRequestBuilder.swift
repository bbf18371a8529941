// Public as in an app's framework, which doesn't have to follow our documentation rule.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import BeagleNet
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's own builder, with the same name as ours and the wire output of Beagle 1.10.3.
public class HttpRequestBuilder {

    public var additionalHeaders: [String: String] = [:]

    public init() {}

    public struct Result {
        var url: URL
        var method: String
        var headers: [String: String]
        var body: Data?

        init(url: URL, method: String, headers: [String: String], body: Data?) {
            (self.url, self.method, self.headers, self.body) = (url, method, headers, body)
        }

        init(_ url: URL, _ requestData: Request.RequestData) {
            let name = requestData.method ?? "GET"
            let tree = requestData.body ?? [:]
            self.init(
                url: url,
                method: name,
                headers: requestData.headers ?? [:],
                body: name == "GET"
                    ? nil : try? JSONSerialization.data(withJSONObject: tree, options: .fragmentsAllowed)
            )
        }

        func toUrlRequest() -> URLRequest {
            var message = URLRequest(
                url: url,
                cachePolicy: .reloadIgnoringLocalAndRemoteCacheData,
                timeoutInterval: 100
            )
            for (name, value) in headers {
                message.addValue(value, forHTTPHeaderField: name)
            }
            message.httpBody = body
            message.httpMethod = method
            return message
        }
    }

    public func build(
        url: URL,
        requestType: Request.RequestType,
        additionalData: HttpAdditionalData?
    ) -> Result {
        switch requestType {
        case .rawRequest(let data):
            return Result(url, data)
        case .submitForm(let form):
            var target = url
            var content = additionalData?.httpData?.body
            place(form, in: &target, or: &content)
            return Result(
                url: target,
                method: form.method.rawValue,
                headers: fields(additionalData),
                body: content
            )
        case .fetchComponent, .fetchImage:
            let sent = additionalData?.httpData
            return Result(
                url: url,
                method: sent?.method.rawValue ?? "GET",
                headers: fields(additionalData),
                body: sent?.body
            )
        }
    }

    private func fields(_ additionalData: HttpAdditionalData?) -> [String: String] {
        ["beagle-platform": "IOS", "Content-Type": "application/json"]
            .merging(additionalData?.headers ?? [:]) { $1 }
            .merging(additionalHeaders) { $1 }
    }

    private func place(_ form: Request.FormData, in url: inout URL, or body: inout Data?) {
        switch form.method {
        case .get, .delete:
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            parts?.queryItems = form.values.compactMap { name, value in
                value.isEmpty ? nil : URLQueryItem(name: name, value: value)
            }
            url = parts?.url ?? url
        case .post, .put:
            body = try? JSONSerialization.data(withJSONObject: form.values)
        }
    }
}
