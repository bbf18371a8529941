/// Sets Beagle up, in Beagle 2's spelling.
public struct BeagleConfigurator {
    /// The same as `Beagle.dependencies = dependencies`.
    public static func setup(dependencies: BeagleDependencies) {
        Beagle.dependencies = dependencies
    }
}
