import BeagleNetDependencies

extension BeagleDependencies {
    /// The number of the user whose credentials the interceptors add to requests; 0 if they add none.
    ///
    /// The number changes as soon as the credentials may be another user's.
    package var credentialOwner: Int {
        CredentialFetch.isActive ? 0 : interceptors.lazy.compactMap(\.credentialOwner).first ?? 0
    }
}
