public import BeagleNetDependencies
public import BeagleNetHTTP

extension BeagleDependencies {
    /// The redactor that removes secrets from logs.
    ///
    /// Add headers and values that are secret in your API: `dependencies.redactor.secrets = ["x-session"]`.
    public var redactor: Redactor {
        get { self[RedactorKey.self] }
        set { self[RedactorKey.self] = newValue }
    }
}

enum RedactorKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Redactor { Redactor() }
}
