import BeagleNetHTTP
import Testing

struct TransferOptionsTests {
    @Test func optionResetToItsDefaultEqualsAnUnsetOne() {
        var options = TransferOptions()
        options.trust = .file(path: "/ca.pem")
        #expect(options.extras?.trust == .file(path: "/ca.pem"))
        #expect(options != TransferOptions())
        options.trust = .system
        #expect(options.extras == nil)
        #expect(options == TransferOptions())
    }

    @Test func copyKeepsItsOwnValues() {
        var one = TransferOptions(trust: .file(path: "/one.pem"))
        let other = one
        one.trust = .file(path: "/two.pem")
        #expect(other.trust == .file(path: "/one.pem"))
        #expect(one != other)
    }

    @Test func hookEqualsOnlyItself() {
        let hook = TransferOptions.Hook<@Sendable () -> Int> { 1 }
        let copy = hook
        #expect(hook == copy)
        #expect(hook != TransferOptions.Hook { @Sendable in 1 })
        #expect(copy.function() == 1)
    }
}
