/// Judges the address of a connection before anything is sent on it: of a new one before it is made, of a kept one
/// before it is used again. A name that resolves to another address the second time (DNS rebinding), a redirect or an
/// alternative service gains nothing by it.
///
/// A guard sees only connections of its own: a request that has one doesn't ask the proxy of the environment, and a Unix
/// socket is refused.
public struct AddressGuard: Sendable, Hashable {
    private enum Rule: Hashable {
        case publicOnly
        case custom(Hook<@Sendable (IPAddress, String) -> Bool>)
    }

    private let rule: Rule

    /// Allows addresses of scope `.global` alone: a URL that somebody else chose does not reach this machine, its
    /// network, or the credentials that a cloud serves at 169.254.169.254 (server-side request forgery).
    public static let publicOnly = AddressGuard(rule: .publicOnly)

    /// Allows what a function allows.
    ///
    /// - Parameter allows: gets the address and the host as the URL has it, in lower case; called on the transport's
    ///   thread, so it must not block.
    public static func custom(
        _ allows: @escaping @Sendable (_ address: IPAddress, _ host: String) -> Bool
    ) -> AddressGuard {
        AddressGuard(rule: .custom(Hook(allows)))
    }

    /// Why there is no connection to this address; nil where there may be one.
    package func refusal(of address: IPAddress, host: String) -> NetworkError? {
        let problem: String?
        switch rule {
        case .publicOnly:
            let scope = address.scope
            problem = scope == .global ? nil : "is \(scope.rawValue), which AddressGuard.publicOnly does not allow"
        case .custom(let hook):
            problem = hook.function(address, host) ? nil : "is not allowed by the app's AddressGuard"
        }
        return problem.map { .blocked("\(address), the address of \(host), \($0)") }
    }
}

extension NetworkError {
    package static func blocked(_ message: String) -> NetworkError {
        NetworkError(
            .blocked,
            during: .connect,
            message,
            advice: "use another host, or change the request's AddressGuard"
        )
    }
}
