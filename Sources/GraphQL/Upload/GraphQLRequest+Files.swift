import BeagleNet
package import BeagleNetHTTP

extension GraphQLRequest {
    /// Attaches a file to a variable, which is then sent as null (GraphQL multipart request specification).
    ///
    /// Missing objects and lists on the path are created; everything else stays unchanged. A file that is attached at
    /// several paths is sent once.
    ///
    /// - Parameters:
    ///   - file: The file to send.
    ///   - path: The names and list indices that lead to the variable, such as `photos.0` or `variables.photos.0`. A
    ///     list grows by at most one element.
    /// - Throws: `NetworkError` of kind `.badRequest` if the path has a value other than null, or can't have one.
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

/// An edit of JSON text that puts null at a path.
private struct NullEdit {
    let range: Range<Int>
    let text: String

    /// Creates the edit, or `nil` if the path is impossible.
    init?(in document: ParsedJSON, at path: ArraySlice<Substring>) {
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

    /// Returns null wrapped in the objects and lists of a path, or `nil` if a list would need an index other than 0.
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
    /// Returns the member or element for a path component, or `nil` if it doesn't exist.
    fileprivate func value(at step: Substring) -> JSONNode? {
        if kind == .object { return self[String(step)] }
        guard let index = Int(step), index >= 0 else { return nil }
        return elements.dropFirst(index).first { _ in true }
    }

    /// Returns the offset at which another value can be added, or `nil` if the value can't have this position.
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

extension ParsedJSON {
    /// Parses the JSON of variables.
    static func reading(_ variables: Data) throws(NetworkError) -> ParsedJSON {
        do throws(JSONFault) {
            return try ParsedJSON(variables)
        } catch {
            throw NetworkError(.badRequest, during: .build, "the variables are \(error)")
        }
    }
}

extension Data {
    /// Returns the text with some ranges replaced. The edits must be in ascending order.
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
