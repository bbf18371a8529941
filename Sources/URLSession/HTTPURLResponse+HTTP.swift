public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPResponse {
    /// Status and fields of a response, the fields in the order of their names: Foundation keeps neither their order
    /// nor their number, and joins the values of one name by commas, those of `Set-Cookie` too.
    public init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.map { (key: "\($0.key)", value: "\($0.value)") }
        self.init(status: Status(code: response.statusCode), headerFields: HTTPFields(fields))
    }
}

extension HTTPURLResponse {
    /// The response as Foundation has it; nil where Foundation refuses it. The values of one name are joined by commas.
    ///
    /// - Parameters:
    ///   - response: status and fields.
    ///   - url: the URL that answered.
    public convenience init?(_ response: HTTPResponse, url: URL) {
        var fields = Dictionary(
            response.headerFields.map { ($0.name.rawName, $0.value) },
            uniquingKeysWith: { "\($0), \($1)" }
        )
        // Foundation makes properties of these, and has none for a list of them.
        for name in [HTTPField.Name.contentType, .contentLength] {
            if let field = response.headerFields.single(name) { fields[field.name.rawName] = field.value }
        }
        self.init(url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}
