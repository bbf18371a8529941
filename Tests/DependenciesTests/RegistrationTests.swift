import BeagleNetDependencies
import Dispatch
import Testing

struct RegistrationTests {
    /// Records the places for which a value was made, in order.
    private final class Made: Sendable {
        private let queue = DispatchQueue(label: "made")
        private nonisolated(unsafe) var names: [String] = []  // read and written on `queue` only

        var all: [String] { queue.sync { names } }

        func add(_ name: String) { queue.sync { names.append(name) } }
    }

    private let made = Made()

    /// A container whose gadget names the place that it was made for.
    private func registered() -> BeagleDependencies {
        let dependencies = BeagleDependencies()
        dependencies.register(\.gadget) { [made] container in
            made.add(container.place)
            return Gadget("registered in \(container.place)")
        }
        return dependencies
    }

    @Test func eachScopeMakesItsOwnValueOnFirstRead() {
        let app = registered()
        app.place = "app"
        #expect(made.all.isEmpty)
        let (app1, app2) = (app.gadget, app.gadget)
        #expect(app1 === app2)
        #expect(app1.name == "registered in app")
        let staging = app.scoped { $0.place = "staging" }
        let unread = app.scoped { $0.place = "unread" }
        #expect(staging.scoped { $0.place = "inner" }.gadget.name == "registered in inner")
        #expect(staging.gadget.name == "registered in staging")
        #expect(app.gadget === app1)
        withExtendedLifetime(unread) {}
        #expect(made.all == ["app", "inner", "staging"])
    }

    @Test func aScopeMadeBeforeTheFirstReadInheritsTheRegistration() {
        let app = registered()
        let scope = app.scoped { $0.place = "scope" }
        #expect(scope.gadget.name == "registered in scope")
        #expect(app.gadget.name == "registered in nowhere")
    }

    @Test func registrationReplacesSetAndDefaultValues() {
        let app = BeagleDependencies()
        _ = app.gadget
        app.gadget = Gadget("set")
        let scope = app.scoped { $0.register(\.gadget) { _ in Gadget("registered") } }
        #expect(scope.gadget.name == "registered")
        #expect(scope.scoped().gadget.name == "registered")
        #expect(app.gadget.name == "set")
        scope.register(\.gadget) { _ in Gadget("registered again") }
        #expect(scope.gadget.name == "registered again")
    }

    @Test func settingReplacesARegistrationWithoutMakingItsValue() {
        let app = registered()
        app.gadget = Gadget("set")
        #expect(app.gadget.name == "set")
        #expect(app.scoped().gadget.name == "set")
        #expect(made.all.isEmpty)
        app.reset(GadgetKey.self)
        #expect(app.gadget.name == "registered in nowhere")
        app.gadget = Gadget("set again")
        #expect(app.scoped().gadget.name == "set again")
        app.reset(GadgetKey.self)
        #expect(app.gadget.name == "registered in nowhere")
        #expect(made.all == ["nowhere", "nowhere"])
    }

    @Test func dependenciesOfTheSameTypeAreDistinguished() {
        let app = registered()
        app.register(\.spare) { container in Gadget("spare of \(container.gadget.name)") }
        #expect(app.gadget.name == "registered in nowhere")
        #expect(app.spare.name == "spare of registered in nowhere")
        let scope = app.scoped { $0.gadget = Gadget("set") }
        #expect(scope.spare.name == "spare of set")
        #expect(scope.gadget.name == "set")
    }

    @Test func optionalKeyIsRegisteredThroughItsProperty() {
        let app = BeagleDependencies()
        app.register(\.title) { container in "of \(container.place)" }
        #expect(app.title == "of nowhere")
        #expect(app.scoped { $0.place = "scope" }.title == "of scope")
    }

    @Test func aSetterMayReadAnotherRegisteredDependency() {
        let app = BeagleDependencies()
        app.register(\.noted) { _ in Gadget("registered") }
        app.register(\.place) { _ in "registered place" }
        #expect(app.noted.name == "registered")
        #expect(app.place == "registered place")
    }

    @Test func registrationSeesTheDefaultOfItsOwnDependency() {
        let app = BeagleDependencies()
        app.register(\.gadget) { container in Gadget("around \(container.gadget.name)") }
        #expect(app.gadget.name == "around default")
        #expect(app.scoped().gadget.name == "around default")
    }

    @Test(arguments: [BeagleDependencies.Context.test, .preview])
    func testScopesDontInheritLiveOnlyValues(context: BeagleDependencies.Context) {
        let app = BeagleDependencies()
        app.register(\.probe) { _ in Gadget("registered") }
        app.register(\.gadget) { _ in Gadget("registered") }
        #expect(app.scoped(context).probe.name == "test")
        #expect(app.scoped(context).gadget.name == "registered")
        #expect(app.scoped().probe.name == "registered")
        app.probe = Gadget("set")
        #expect(app.scoped(context).probe.name == "test")
        #expect(app.scoped(.live).probe.name == "set")
        let scope = app.scoped(context) { $0.probe = Gadget("set in the scope") }
        #expect(scope.scoped().probe.name == "set in the scope")
        #expect(scope.scoped(.live).probe.name == "set in the scope")
    }

    @Test func registeringDoesNotMakeTheDefault() {
        let app = BeagleDependencies()
        app.register(\.costly) { _ in Gadget("registered") }
        #expect(app.costly.name == "registered")
        #expect(app.scoped().costly.name == "registered")
    }

    @Test func concurrentReadsMakeARegisteredValueOnce() {
        let app = registered()
        DispatchQueue.concurrentPerform(iterations: 64) { _ in _ = app.gadget }
        #expect(made.all.count == 1)
        let scope = app.scoped()
        DispatchQueue.concurrentPerform(iterations: 64) { _ in _ = scope.gadget }
        #expect(made.all.count == 2)
    }

    @Test func followerKeepsItsRegistrations() {
        weak var container: BeagleDependencies?
        let follower = {
            let app = registered()
            container = app
            return app.follower(keeping: [GadgetKey.self])
        }()
        #expect(container == nil)
        let first = follower.gadget
        #expect(first.name == "registered in nowhere")
        #expect(follower.gadget === first)
    }

    @Test func releasedContainerReleasesItsValues() {
        weak var gadget: Gadget?
        Beagle.withDependencies {
            $0.register(\.gadget) { _ in Gadget("registered") }
        } operation: {
            gadget = Beagle.dependencies.gadget
            #expect(gadget != nil)
        }
        #expect(gadget == nil)
    }

    @Test func registeringChangesTheVersionAndReadingDoesNot() {
        let app = BeagleDependencies()
        let version = app.version
        app.register(\.gadget) { _ in Gadget("registered") }
        #expect(app.version != version)
        let registered = app.version
        _ = app.gadget
        #expect(app.version == registered)
    }
}

private final class Gadget: Sendable {
    let name: String

    init(_ name: String) { self.name = name }
}

private enum GadgetKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Gadget { Gadget("default") }
}

private enum SpareKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Gadget { Gadget("default") }
}

private enum ProbeKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Gadget { Gadget("default") }
    static func test(_ dependencies: BeagleDependencies) -> Gadget { Gadget("test") }
    static var isLiveOnly: Bool { true }
}

private enum CostlyKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Gadget {
        Issue.record("a default was made")
        return Gadget("default")
    }
}

private enum NotedKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Gadget { Gadget("default") }
}

private enum PlaceKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> String { "nowhere" }
}

private enum TitleKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> String? { nil }
}

extension BeagleDependencies {
    fileprivate var gadget: Gadget {
        get { self[GadgetKey.self] }
        set { self[GadgetKey.self] = newValue }
    }

    fileprivate var spare: Gadget {
        get { self[SpareKey.self] }
        set { self[SpareKey.self] = newValue }
    }

    fileprivate var probe: Gadget {
        get { self[ProbeKey.self] }
        set { self[ProbeKey.self] = newValue }
    }

    fileprivate var costly: Gadget {
        get { self[CostlyKey.self] }
        set { self[CostlyKey.self] = newValue }
    }

    /// A dependency whose setter reads another one.
    fileprivate var noted: Gadget {
        get { self[NotedKey.self] }
        set {
            self[NotedKey.self] = newValue
            _ = place
        }
    }

    fileprivate var place: String {
        get { self[PlaceKey.self] }
        set { self[PlaceKey.self] = newValue }
    }

    /// A property whose type differs from its key's, because it computes a fallback.
    fileprivate var title: String {
        get { self[TitleKey.self] ?? "untitled" }
        set { self[TitleKey.self] = newValue }
    }
}
