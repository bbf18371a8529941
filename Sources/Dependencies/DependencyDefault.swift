/// The key of a dependency, which also creates its default value.
///
/// Conform an empty enum to it, and name the dependency in an extension of `BeagleDependencies`:
///
/// ```swift
/// enum CartKey: DependencyDefault {
///     static func live(_ dependencies: BeagleDependencies) -> any Cart { RemoteCart(dependencies.networkClient) }
/// }
/// extension BeagleDependencies {
///     var cart: any Cart {
///         get { self[CartKey.self] }
///         set { self[CartKey.self] = newValue }
///     }
/// }
/// ```
///
/// A default value is created once per container, while the container is locked. Read other dependencies from the
/// container that is passed, never from `Beagle.dependencies`, and don't wait for another thread.
/// `BeagleDependencies.register(_:_:)` replaces the default.
public protocol DependencyDefault: SendableMetatype {
    /// The type of the dependency, usually `any SomeProtocol`.
    associatedtype Value: Sendable

    /// Returns the default value in an app.
    static func live(_ dependencies: BeagleDependencies) -> Value

    /// Returns the default value in a test, which is the live value unless you implement this.
    static func test(_ dependencies: BeagleDependencies) -> Value

    /// Returns the default value in a preview, which is the value of tests unless you implement this.
    static func preview(_ dependencies: BeagleDependencies) -> Value

    /// Whether scopes for tests and previews don't inherit the value of a live container, because it accesses resources
    /// outside of the process; `false` by default.
    static var isLiveOnly: Bool { get }
}

extension DependencyDefault {
    /// `false`.
    public static var isLiveOnly: Bool { false }

    /// Returns the live value.
    public static func test(_ dependencies: BeagleDependencies) -> Value { live(dependencies) }

    /// Returns the value of tests.
    public static func preview(_ dependencies: BeagleDependencies) -> Value { test(dependencies) }
}
