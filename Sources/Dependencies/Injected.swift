/// Reads a dependency by its name in `BeagleDependencies`, anew each time: `@Injected(\.logger) var logger`.
///
/// Swift stores a wrapped property in a variable, which a `Sendable` class may not have. There it is a constant that is
/// called:
///
/// ```swift
/// final class HomeModel: Sendable {
///     private let client = Injected(\.networkClient)
///
///     func load() async throws -> Screen { try await client().fetch("/home") }
/// }
/// ```
///
/// It is looked for in the container given, else in the scope of the reader, else in the scope in which the property
/// was made, while that lives, else in the app's dependencies. A container given is kept alive, a scope is not: what a
/// scope holds may have injected properties itself.
@propertyWrapper
public struct Injected<Value: Sendable>: Sendable {
    private let name: any KeyPath<BeagleDependencies, Value> & Sendable
    private let container: BeagleDependencies?
    private weak let birthplace: Beagle.Slot?

    /// Reads the dependency of this name.
    ///
    /// - Parameters:
    ///   - name: the dependency, as `\.logger`.
    ///   - container: where to look; the scopes described above where nil.
    public init(_ name: any KeyPath<BeagleDependencies, Value> & Sendable, from container: BeagleDependencies? = nil) {
        self.name = name
        self.container = container
        birthplace = Beagle.slot
    }

    /// The dependency as it is now.
    public var wrappedValue: Value {
        let container = container ?? (Beagle.slot ?? birthplace ?? Beagle.processSlot).container
        return container[keyPath: name]
    }

    /// The dependency as it is now, for a constant: `let logger = Injected(\.logger)`.
    public func callAsFunction() -> Value { wrappedValue }
}

extension Injected where Value == any BeagleLogger {
    /// Reads the logger: `@Injected() var logger: any BeagleLogger`.
    public init() {
        self.init(\.logger)
    }
}
