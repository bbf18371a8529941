/// Reads a dependency by its name in `BeagleDependencies`, anew each time: `@Injected(\.logger) var logger`.
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
}

extension Injected where Value == any BeagleLogger {
    /// Reads the logger: `@Injected() var logger: any BeagleLogger`.
    public init() {
        self.init(\.logger)
    }
}
