extension TransferOptions {
    /// A rule that decides which IP addresses a transfer may connect to.
    ///
    /// The address is checked before anything is sent: for a new connection before it is opened, and for an idle
    /// connection before it is reused. This also covers a name that later resolves to another address (DNS rebinding),
    /// redirects and alternative services.
    ///
    /// A guard can't check the addresses that a proxy connects to. A request with a guard therefore doesn't use the
    /// proxy of the environment, and setting a proxy or a Unix socket is an error.
    public struct AddressGuard: Sendable, Hashable {
        private enum Rule: Hashable {
            case publicOnly
            case custom(Hook<@Sendable (IPAddress, String) -> Bool>)
        }

        private let rule: Rule

        /// A guard that allows only addresses of scope `.global`.
        ///
        /// This prevents server-side request forgery: a URL from an untrusted source can't reach this machine, its
        /// network, or the credentials that a cloud serves at 169.254.169.254.
        public static let publicOnly = AddressGuard(rule: .publicOnly)

        /// Returns a guard that allows the addresses for which a function returns `true`.
        ///
        /// - Parameter allows: A function that takes the address and the host of the URL in lower case. It is called on
        ///   the transport's thread and must not block.
        public static func custom(
            _ allows: @escaping @Sendable (_ address: IPAddress, _ host: String) -> Bool
        ) -> AddressGuard {
            AddressGuard(rule: .custom(Hook(allows)))
        }

        /// Returns the error for an address that isn't allowed, or `nil` if it is allowed.
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
