public import BeagleNetDependencies
public import BeagleNetHTTP

extension BeagleDependencies {
    /// Tells what the logger must not see. Name headers and values that only your server knows as secret:
    /// `dependencies.redactor.secrets = ["x-session"]`.
    public var redactor: Redactor {
        get { self[RedactorKey.self] }
        set { self[RedactorKey.self] = newValue }
    }
}

enum RedactorKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Redactor { Redactor() }
}
