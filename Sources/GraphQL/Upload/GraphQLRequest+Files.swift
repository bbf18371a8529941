import BeagleNet
package import BeagleNetHTTP

extension GraphQLRequest {
    /// Puts a file at a place of the variables, where null stands then (GraphQL multipart request specification), and adds
    /// what leads there where it is missing. All else stays as it is written. The same file at several places is sent
    /// once.
    ///
    /// - Parameters:
    ///   - file: what is sent.
    ///   - path: the names and list positions that lead there, as `photos.0` or `variables.photos.0`. A list grows by one
    ///     at most.
    /// - Throws: `NetworkError` of kind `.badRequest` where something else than null is there already, or nothing can be.
    package mutating func attach(_ file: FormFile, at path: String) throws(NetworkError) {
        let path = path.hasPrefix("variables.") ? path : "variables." + path
        let isTaken = files.contains { $0.paths.contains { path == $0 || path.hasPrefix($0 + ".") } }
        let text = variables.isEmpty ? Data("{}".utf8) : variables
        let steps = path.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        guard !isTaken, !steps.contains(""), let edit = NullEdit(in: try .reading(text), at: steps) else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "cannot attach a file at \(path)",
                advice:
                    "write the field names and list indices that lead to a missing value or null, such as photos.0"
            )
        }
        variables = text.replacing([(edit.range, edit.text)])
        if let index = files.firstIndex(where: { $0.file == file }) {
            files[index].paths.append(path)
        } else {
            files.append(File(file, at: [path]))
        }
    }
}

/// What is to be written where so that null stands at a place.
private struct NullEdit {
    let range: Range<Int>
    let text: String

    /// nil where there is no such place.
    init?(in document: JSONDocument, at path: ArraySlice<Substring>) {
        guard document.root.kind == .object else { return nil }
        var (node, rest) = (document.root, path)
        while let step = rest.first, !node.isNull {
            rest = rest.dropFirst()
            if let next = node.value(at: step) {
                node = next
                continue
            }
            guard let text = Self.value(at: rest), let end = node.end(for: step) else { return nil }
            let name = node.kind == .object ? Self.quoted(step) + ":" : ""
            self.init(range: end.offset..<end.offset, text: (end.isFirst ? "" : ",") + name + text)
            return
        }
        guard node.isNull, let text = Self.value(at: rest) else { return nil }
        self.init(range: node.range, text: text)
    }

    private init(range: Range<Int>, text: String) {
        self.range = range
        self.text = text
    }

    /// Null, in the objects and lists that lead to it; nil where a list would have to begin with something else.
    private static func value(at path: ArraySlice<Substring>) -> String? {
        var text = "null"
        for step in path.reversed() {
            if let index = Int(step) {
                guard index == 0 else { return nil }
                text = "[\(text)]"
            } else {
                text = "{\(quoted(step)):\(text)}"
            }
        }
        return text
    }

    private static func quoted(_ name: Substring) -> String {
        var bytes: [UInt8] = []
        JSONText.append(String(name), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONNode {
    /// What a step leads to; nil where there is nothing.
    fileprivate func value(at step: Substring) -> JSONNode? {
        if kind == .object { return self[String(step)] }
        guard let index = Int(step), index >= 0 else { return nil }
        return elements.dropFirst(index).first { _ in true }
    }

    /// Where one more value goes; nil where it cannot have this place.
    fileprivate func end(for step: Substring) -> (offset: Int, isFirst: Bool)? {
        var (last, count) = (JSONNode?.none, 0)
        switch kind {
        case .object: for member in members { (last, count) = (member.value, count + 1) }
        case .array:
            for element in elements { (last, count) = (element, count + 1) }
            guard Int(step) == count else { return nil }
        default: return nil
        }
        return (last?.range.upperBound ?? range.lowerBound + 1, count == 0)
    }
}

extension JSONDocument {
    /// The document of variables.
    static func reading(_ variables: Data) throws(NetworkError) -> JSONDocument {
        do throws(JSONFault) {
            return try JSONDocument(variables)
        } catch {
            throw NetworkError(.badRequest, during: .build, "the variables are \(error)")
        }
    }
}

extension Data {
    /// The text with others in the place of these ranges of it, which come in their order.
    func replacing(_ edits: [(range: Range<Int>, text: String)]) -> Data {
        var (text, place) = (Data(), startIndex)
        for edit in edits {
            text += self[place..<startIndex + edit.range.lowerBound]
            text += Data(edit.text.utf8)
            place = startIndex + edit.range.upperBound
        }
        return text + self[place...]
    }
}
