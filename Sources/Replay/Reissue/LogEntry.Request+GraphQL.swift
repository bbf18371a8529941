import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLText {
    /// Returns the types of the operations in a document; `query` for a bare selection set.
    ///
    /// - Returns: `nil` if the text is not an executable document.
    /// Source: https://spec.graphql.org/October2021/#sec-Document
    static func operations(in document: String) -> Set<String>? {
        var operations: Set<String> = []
        var rest = Array(document.utf8)[...]
        var (depth, isInDefinition) = (0, false)
        while let byte = rest.first {
            if isIgnored(byte) {
                rest = rest.dropFirst()
            } else if byte == UInt8(ascii: "#") {
                rest = rest.drop { $0 != 0x0A && $0 != 0x0D }
            } else if !isInDefinition {
                let word = rest.prefix(while: isWord)
                let name = String(decoding: word, as: UTF8.self)
                guard ["query", "mutation", "subscription", "fragment"].contains(name) || byte == UInt8(ascii: "{")
                else {
                    return nil
                }
                if name != "fragment" { operations.insert(name.isEmpty ? "query" : name) }
                rest = rest.dropFirst(word.count)
                isInDefinition = true
            } else {
                if "{([".utf8.contains(byte) { depth += 1 }
                if "})]".utf8.contains(byte) { depth -= 1 }
                guard depth >= 0 else { return nil }
                if byte == UInt8(ascii: "}"), depth == 0 { isInDefinition = false }
                rest = rest.dropFirst(token(at: rest).count)
            }
        }
        return isInDefinition || operations.isEmpty ? nil : operations
    }
}

extension LogEntry.Request {
    /// Returns whether the request only queries a GraphQL server: each operation in its body is a query.
    ///
    /// - Parameter data: the bytes of the body.
    func isGraphQLQuery(_ data: Data) -> Bool {
        guard method == "POST", let body else { return false }
        let type = MediaType(fields["Content-Type"] ?? body.mediaType)?.essence ?? ""
        let text = decoded(data).utf8(from: charset)
        if type == "application/graphql" {
            return GraphQLText.operations(in: String(decoding: text, as: UTF8.self)) == ["query"]
        }
        guard type.hasSuffix("/json") || type.hasSuffix("+json") else { return false }
        guard let root = (try? ParsedJSON(text))?.root else { return false }
        let operations = root.kind == .array ? Array(root.elements) : [root]
        return !operations.isEmpty
            && operations.allSatisfy { operation in
                operation["query"]?.string.flatMap(GraphQLText.operations) == ["query"]
            }
    }

    /// Whether the request has a GraphQL mutation in its URL, which some servers execute with any method.
    var hasMutationInURL: Bool {
        url.utf8.contains(UInt8(ascii: "?"))
            && QueryItems.of(url).contains { item in
                item.name == "query" && GraphQLText.operations(in: item.value)?.contains("mutation") == true
            }
    }
}
