/// A property wrapper that reads a dependency by its name in `BeagleDependencies` at each access.
///
/// ```swift
/// @Injected(\.logger) var logger
/// ```
///
/// Swift stores a wrapped property in a variable, which isn't allowed in a `Sendable` class. There, use a constant and
/// call it:
///
/// ```swift
/// final class HomeModel: Sendable {
///     private let client = Injected(\.networkClient)
///
///     func load() async throws -> Screen { try await client().fetch("/home") }
/// }
/// ```
///
/// The dependency is read from the container that was passed. Without one, it is read from the reader's scope, then
/// from the scope in which the property was created, if that still exists, and then from the app's dependencies. The
/// property retains the container but not the scope, because an object in a scope may itself have injected properties.
@propertyWrapper
public struct Injected<Value: Sendable>: Sendable {
    private let name: any KeyPath<BeagleDependencies, Value> & Sendable
    private let container: BeagleDependencies?
    private weak let creationScope: Beagle.Slot?

    /// Creates a property that reads a dependency.
    ///
    /// - Parameters:
    ///   - name: The dependency, such as `\.logger`.
    ///   - container: The container to read from, or `nil` for the scopes described above.
    public init(_ name: any KeyPath<BeagleDependencies, Value> & Sendable, from container: BeagleDependencies? = nil) {
        self.name = name
        self.container = container
        creationScope = Beagle.slot
    }

    /// The current value of the dependency.
    public var wrappedValue: Value {
        let container = container ?? (Beagle.slot ?? creationScope ?? Beagle.processSlot).container
        return container[keyPath: name]
    }

    /// Returns the current value of the dependency, for use with a constant: `let logger = Injected(\.logger)`.
    public func callAsFunction() -> Value { wrappedValue }
}

extension Injected where Value == any BeagleLogger {
    /// Injects the logger: `@Injected() var logger: any BeagleLogger`.
    public init() {
        self.init(\.logger)
    }
}
