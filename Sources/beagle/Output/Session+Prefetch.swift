import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import Foundation

extension Session {
    /// Creates a client for several screens.
    ///
    /// - Parameters:
    ///   - cache: The cache of their responses.
    ///   - base: The base URL of paths.
    ///   - origin: The origin that receives the header fields and credentials of the command line.
    func client(_ cache: SessionCache, base: URL, credentialsFor origin: Origin) throws -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        dependencies.environment = BeagleEnvironment(name: "prefetch", baseURL: base)
        var interceptors = try recorded(interceptors)
        for more in [CommandLineFields(flags, for: origin), StatusInterceptor()] as [any Interceptor] {
            interceptors.add(more)
        }
        interceptors.add(cache.interceptor)
        dependencies.interceptors = interceptors
        return NetworkClientDefault(dependencies: dependencies, transport: self, options: try flags.options())
    }
}

/// Adds the header fields of the command line to requests to one origin, before the cache looks them up, and removes its
/// credentials from all others.
private struct CommandLineFields: Interceptor {
    let place: Pipeline.Place? = .requestPolicy
    private let flags: CommonFlags
    private let origin: Origin

    init(_ flags: CommonFlags, for origin: Origin) {
        self.flags = flags
        self.origin = origin
    }

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        if operation.origin == origin {
            flags.apply(to: &operation.transfer.head)
            // General fields, such as Accept-Language, would otherwise count as a user's.
            let names = flags.header.compactMap(\.name).filter { !NetworkOperation.isGeneral($0) }
            operation.transfer.originScopedFields.formUnion(names)
        } else {
            operation.transfer.options.dropCredentials()
        }
        return try await next(operation, emit)
    }
}
