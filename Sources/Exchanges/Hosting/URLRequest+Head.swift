import BeagleNetHTTP
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Applies the changes of a message's URL and header fields.
    mutating func apply(_ changed: HTTPRequest, _ sent: HTTPRequest) {
        // An invalid URL is rejected when the message is built. Until then the old URL stays.
        if changed.urlText != sent.urlText, let url = try? URLReference(changed.urlText).url() { self.url = url }
        for name in Set(changed.headerFields.map(\.name) + sent.headerFields.map(\.name))
        where changed.headerFields[name] != sent.headerFields[name] {
            setValue(changed.headerFields[name], forHTTPHeaderField: name.rawName)
        }
    }
}
