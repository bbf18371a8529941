/// Names one dependency and makes it where nobody set it. Adopt it with an empty enum, and give the dependency its
/// name in an extension of `BeagleDependencies`:
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
/// A default is made once per container, while the container is locked: read what it needs from the container given,
/// never from `Beagle.dependencies`, and wait for no other thread. `BeagleDependencies.register(_:_:)` replaces it.
public protocol DependencyDefault: SendableMetatype {
    /// What the dependency is, usually `any SomeProtocol`.
    associatedtype Value: Sendable

    /// The value in an app.
    static func live(_ dependencies: BeagleDependencies) -> Value

    /// The value in a test; the live one unless told otherwise.
    static func test(_ dependencies: BeagleDependencies) -> Value

    /// The value in a preview; the one of tests unless told otherwise.
    static func preview(_ dependencies: BeagleDependencies) -> Value

    /// Whether scopes for tests and previews don't inherit what a live container was given, as it reaches outside of the
    /// process. `false` unless the key says otherwise.
    static var isLiveOnly: Bool { get }
}

extension DependencyDefault {
    /// `false`.
    public static var isLiveOnly: Bool { false }

    /// The live value.
    public static func test(_ dependencies: BeagleDependencies) -> Value { live(dependencies) }

    /// The value of tests.
    public static func preview(_ dependencies: BeagleDependencies) -> Value { test(dependencies) }
}
