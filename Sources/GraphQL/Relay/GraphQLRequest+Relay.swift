import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLRequest {
    /// Creates the request of an execution.
    ///
    /// - Parameters:
    ///   - execution: The operation and its options.
    ///   - variables: The variables of the operation.
    ///   - uploadables: The files by their path in the variables, such as `photos.0`.
    /// - Throws: `NetworkError` of kind `.badRequest` if the variables can't be written as JSON, or have no place for a
    ///   file.
    package init(
        _ execution: NetworkOperation.RelayExecution,
        _ variables: VariableData,
        uploadables: [String: FormFile] = [:]
    ) throws(NetworkError) {
        self.init(
            query: execution.request.text,
            documentID: execution.request.id,
            operationName: execution.request.name,
            kind: execution.request.operationKind,
            variables: try variables.data(),
            extensions: execution.cacheConfig.liveConfigID.map { ["liveConfigId": .string($0)] } ?? [:]
        )
        // Lists must grow in the order of their indices.
        let places = uploadables.map { (path: $0.key.split(separator: "."), file: $0.value) }
            .map { (path: $0.path.first == "variables" ? $0.path.dropFirst() : $0.path[...], file: $0.file) }
            .sorted { $0.path.lexicographicallyPrecedes($1.path, by: isBefore) }
        for place in places { try attach(place.file, at: "variables." + place.path.joined(separator: ".")) }
    }
}

/// Returns whether a path component sorts before another: numbers first, by value, then names.
private func isBefore(_ one: Substring, _ other: Substring) -> Bool {
    switch (Int(one), Int(other)) {
    case (let one?, let other?): one < other
    case (nil, nil): one < other
    case (let number, _): number != nil
    }
}
