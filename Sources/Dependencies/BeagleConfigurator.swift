/// The set-up of Beagle, with the names of Beagle 2.
public struct BeagleConfigurator {
    /// Sets `Beagle.dependencies`.
    public static func setup(dependencies: BeagleDependencies) {
        Beagle.dependencies = dependencies
    }
}
