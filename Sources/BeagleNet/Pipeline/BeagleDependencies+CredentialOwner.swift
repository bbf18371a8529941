import BeagleNetDependencies

extension BeagleDependencies {
    /// Whose credentials the interceptors add to requests: another number than any before as soon as they may be another
    /// user's; 0 if they add none.
    package var credentialOwner: Int {
        CredentialFetch.isOne ? 0 : interceptors.lazy.compactMap(\.credentialOwner).first ?? 0
    }
}
