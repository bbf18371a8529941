import BeagleNetDependencies

extension BeagleDependencies {
    /// Whose credentials operations are given by the interceptors: another number than any before as soon as they may be another
    /// person's; 0 where they get none.
    package var person: Int {
        let credentials = interceptors.lazy.compactMap { $0 as? any PersonalInterceptor }.first
        return CredentialFetch.isOne ? 0 : credentials?.person ?? 0
    }
}
