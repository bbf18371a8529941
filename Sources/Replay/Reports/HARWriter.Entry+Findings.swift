public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HARWriter.Entry {
    /// Returns the places of remaining secrets in an entry that should be redacted.
    ///
    /// The entry, the files of its bodies, and repetitions such as the items of `queryString` are checked. A file that
    /// cannot be read is also a finding.
    public func findings(by redactor: Redactor = Redactor()) -> [String] {
        let said = files.findings(in: entry, by: redactor)
        guard let json else { return said }
        do throws(JSONFault) {
            let again = try RepeatedValueCheck(redactor).findings(in: ParsedJSON(json).root)
            return said + again.filter { !said.contains($0) }
        } catch {
            return said + ["[\(error.reason)]"]
        }
    }
}

extension HARReader.Member {
    /// Returns the places of secrets in a member beside the entries, such as `pages`.
    public func findings(by redactor: Redactor = Redactor()) -> [String] {
        redactor.findings(in: Data(json), contentType: "application/json", at: name)
    }
}

/// A check of repeated values in an archive's entry: query items are also in the URL, and cookies also in a header
/// field.
private struct RepeatedValueCheck {
    private let redactor: Redactor

    init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    func findings(in entry: JSONNode) -> [String] {
        let (request, response) = (entry["request"], entry["response"])
        return pairs(request?["queryString"], "request.queryString") { isOpenItem(FormText.literalPair($0, $1)) }
            + pairs(request?["postData"]?["params"], "request.postData.params") { isOpenItem(FormText.pair($0, $1)) }
            + pairs(request?["headers"], "request.headers", where: isOpenPseudoField)
            + pairs(request?["cookies"], "request.cookies") { isOpenField(.cookie, "\($0)=\($1)") }
            + pairs(response?["cookies"], "response.cookies") { isOpenField(.setCookie, "\($0)=\($1)") }
    }

    /// Returns the places of pairs that contain a secret, such as `request.cookies.sid`.
    private func pairs(
        _ list: JSONNode?,
        _ place: String,
        where isOpen: (_ name: String, _ value: String) -> Bool
    ) -> [String] {
        list?.elements.compactMap { item in
            guard let name = item["name"]?.string, let value = item["value"].flatMap({ $0.string ?? $0.numberText }),
                !value.isEmpty, isOpen(name, value)
            else { return nil }
            return "\(place).\(name)"
        } ?? []
    }

    private func isOpenItem(_ item: String) -> Bool {
        !redactor.findings(inURL: "?\(item)", at: "").isEmpty
    }

    private func isOpenField(_ name: HTTPField.Name, _ value: String) -> Bool {
        var fields = HTTPFields()
        fields.append(HTTPField(name: name, value: value))
        return !redactor.findings(in: fields, at: "").isEmpty
    }

    /// Returns whether an HTTP/2 pseudo-header field such as `:path`, which repeats the URL, contains a secret.
    private func isOpenPseudoField(_ name: String, _ value: String) -> Bool {
        name.hasPrefix(":") && !redactor.findings(inURL: value, at: "").isEmpty
    }
}
