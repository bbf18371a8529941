import BeagleNetHTTP
import Testing

struct CopyOnWriteTests {
    @Test func changingACopyDoesNotAffectTheOriginal() {
        let first = CopyOnWrite([1])
        var second = first
        second.value.append(2)
        #expect(first.value == [1])
        #expect(second.value == [1, 2])
    }

    @Test func changingACopiedRequestDoesNotAffectTheOriginal() {
        let first = TransferRequest(HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/"))
        var second = first
        second.head.path = "/other"
        second.options.maxBodyBytes = 1
        second.body = HTTPBody("text")
        second.onProgress = { _ in }
        #expect(first.head.path == "/")
        #expect(first.options == TransferOptions())
        #expect(first.body == nil)
        #expect(first.onProgress == nil)
        #expect(second.head.path == "/other")
    }
}
