import BeagleNetDependencies

extension BeagleDependencies {
    /// The number of the user whose credentials the interceptors add to requests; a new one as soon as they may be another
    /// user's, 0 if they add none.
    package var credentialOwner: Int {
        CredentialFetch.isOne ? 0 : interceptors.lazy.compactMap(\.credentialOwner).first ?? 0
    }
}
