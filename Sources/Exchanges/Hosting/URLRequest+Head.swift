import BeagleNetHTTP
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Takes over what was changed of a message's URL and header fields.
    mutating func take(_ changed: HTTPRequest, _ sent: HTTPRequest) {
        // A URL that can't be one is refused when the message is built; until then the old one stays.
        if changed.urlText != sent.urlText, let url = try? URLReference(changed.urlText).url() { self.url = url }
        for name in Set(changed.headerFields.map(\.name) + sent.headerFields.map(\.name))
        where changed.headerFields[name] != sent.headerFields[name] {
            setValue(changed.headerFields[name], forHTTPHeaderField: name.rawName)
        }
    }
}
