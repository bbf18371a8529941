public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPResponse {
    /// Creates a response head from a Foundation response, with its fields sorted by name.
    ///
    /// Foundation preserves neither the order nor the number of fields. It joins the values of the same name with
    /// commas, even those of `Set-Cookie`.
    public init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.map { (key: "\($0.key)", value: "\($0.value)") }
        self.init(status: Status(code: response.statusCode), headerFields: HTTPFields(fields))
    }
}

extension HTTPURLResponse {
    /// Creates a Foundation response, or returns `nil` if Foundation rejects it.
    ///
    /// The values of the same name are joined with commas.
    ///
    /// - Parameters:
    ///   - response: The status and fields of the response.
    ///   - url: The URL that the response came from.
    public convenience init?(_ response: HTTPResponse, url: URL) {
        var fields = Dictionary(
            response.headerFields.map { ($0.name.rawName, $0.value) },
            uniquingKeysWith: { "\($0), \($1)" }
        )
        // Foundation derives properties from these, which don't support lists.
        for name in [HTTPField.Name.contentType, .contentLength] {
            if let field = response.headerFields.single(name) { fields[field.name.rawName] = field.value }
        }
        self.init(url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}
