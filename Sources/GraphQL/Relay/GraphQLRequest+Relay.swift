import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLRequest {
    /// The request of an execution.
    ///
    /// - Parameters:
    ///   - execution: which operation, and what it was told.
    ///   - variables: its variables.
    ///   - uploadables: files, by where they belong among the variables, as `photos.0`.
    /// - Throws: `NetworkError` of kind `.badRequest` where variables have no JSON form, or no place for a file.
    package init(
        _ execution: RelayExecution,
        _ variables: VariableData,
        uploadables: [String: FormFile] = [:]
    ) throws(NetworkError) {
        var tree = variables.json
        var files: [File] = []
        for (path, file) in uploadables.sorted(by: { $0.key < $1.key }) {
            let path = path.hasPrefix("variables.") ? String(path.dropFirst("variables.".count)) : path
            guard tree.makeNull(at: path.split(separator: ".")[...], room: uploadables.count) else {
                throw NetworkError(
                    .badRequest,
                    during: .build,
                    "there is no place for a file at \(path) of the variables",
                    advice: "name it by the fields and list positions that lead to it, as photos.0"
                )
            }
            if let index = files.firstIndex(where: { $0.file == file }) {
                files[index].paths.append("variables." + path)
            } else {
                files.append(File(file, at: ["variables." + path]))
            }
        }
        self.init(
            query: execution.request.text,
            documentID: execution.request.id,
            operationName: execution.request.name,
            kind: execution.request.operationKind,
            variables: try tree.data(),
            extensions: execution.cacheConfig.liveConfigID.map { ["liveConfigId": .string($0)] } ?? [:]
        )
        self.files = files
    }
}

extension JSONValue {
    /// Puts null where a file belongs (GraphQL multipart request specification), and what leads there where it is missing.
    ///
    /// - Parameter room: how much longer a list may become.
    /// - Returns: whether there is such a place.
    fileprivate mutating func makeNull(at path: ArraySlice<Substring>, room: Int) -> Bool {
        guard let step = path.first else {
            self = .null
            return true
        }
        let index = Int(step)
        if self == .null { self = index == nil ? .object([:]) : .array([]) }
        switch (self, index) {
        case (.object(var members), _):
            guard members[String(step), default: .null].makeNull(at: path.dropFirst(), room: room) else { return false }
            self = .object(members)
        case (.array(var elements), let index?):
            guard index >= 0, index < elements.count + room else { return false }
            while elements.count <= index { elements.append(.null) }
            guard elements[index].makeNull(at: path.dropFirst(), room: room) else { return false }
            self = .array(elements)
        default: return false
        }
        return true
    }
}
