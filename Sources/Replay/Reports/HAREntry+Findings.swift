public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HAREntry {
    /// Where an entry that claims to be redacted still has secrets, as places in the archive's entry: in what it says, in its
    /// bodies' files, and in what it says again, as items of the query beside the URL. A file that cannot be read is a finding.
    public func findings(by redactor: Redactor = Redactor()) -> [String] {
        let said = files.findings(in: entry, by: redactor)
        guard let json else { return said }
        do throws(JSONFault) {
            let again = try Repetitions(redactor).findings(in: JSONDocument(json).root)
            return said + again.filter { !said.contains($0) }
        } catch {
            return said + ["[\(error.reason)]"]
        }
    }
}

extension HARReader.Member {
    /// Where a member beside the entries, as `pages`, has secrets.
    public func findings(by redactor: Redactor = Redactor()) -> [String] {
        redactor.findings(in: Data(json), contentType: "application/json", at: name)
    }
}

/// What an archive's entry says twice: an item of the query is in the URL too, a cookie in its field.
private struct Repetitions {
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

    /// The places, as `request.cookies.sid`, of pairs that hold a secret.
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

    /// HTTP/2's `:path`, which says what the URL does.
    private func isOpenPseudoField(_ name: String, _ value: String) -> Bool {
        name.hasPrefix(":") && !redactor.findings(inURL: value, at: "").isEmpty
    }
}
