import Foundation

/// What `/signup` receives: the fields of a form, and what is wrong with them.
struct SignupForm {
    /// A field and what is wrong with it, said to the person who filled it in.
    struct Complaint: Encodable {
        let field: String
        let message: String
    }

    let fields: [String: String]

    /// Reads a JSON object of strings, or `application/x-www-form-urlencoded` pairs. nil: the body is neither.
    init?(_ body: Data, contentType: String) {
        let mediaType = contentType.prefix { $0 != ";" }.lowercased()
        switch mediaType {
        case "application/json":
            guard let fields = try? JSONDecoder().decode([String: String].self, from: body) else { return nil }
            self.fields = fields
        case "application/x-www-form-urlencoded":
            var components = URLComponents()
            components.percentEncodedQuery = String(decoding: body, as: UTF8.self)
                .replacingOccurrences(of: "+", with: "%20")
            let pairs = (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }
            fields = Dictionary(pairs) { _, last in last }
        default:
            return nil
        }
    }

    var complaints: [Complaint] {
        var complaints: [Complaint] = []
        if fields["name", default: ""].isEmpty {
            complaints.append(Complaint(field: "name", message: "must not be empty"))
        }
        let address = fields["email", default: ""].split(separator: "@", omittingEmptySubsequences: false)
        if address.count != 2 || address[0].isEmpty || !address[1].contains(".") {
            complaints.append(Complaint(field: "email", message: "must be an address such as ana@example.com"))
        }
        return complaints
    }
}
