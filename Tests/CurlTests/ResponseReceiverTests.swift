import BeagleNetHTTP
import CurlPeers
import Testing

@testable import BeagleNetCurl

/// The receiver of a response, fed with bytes and without libcurl.
@Suite struct ResponseReceiverTests {
    private func feed(_ text: String, to receiver: inout ResponseReceiver) throws(NetworkError) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            var failure: NetworkError?
            Array("\(line)\r\n".utf8).withUnsafeBytes { bytes in
                if receiver.takes(bytes) { return }
                do throws(NetworkError) { _ = try receiver.feed(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }

    private func receive(_ body: Data, by receiver: inout ResponseReceiver) throws(NetworkError) {
        var failure: NetworkError?
        body.withUnsafeBytes { bytes in
            do throws(NetworkError) { _ = try receiver.receive(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func connected(isHead: Bool = false, maxBodyBytes: Int? = nil) -> ResponseReceiver {
        var receiver = ResponseReceiver(isHead: isHead, decodes: true, maxBodyBytes: maxBodyBytes)
        receiver.didConnect()
        return receiver
    }

    @Test func proxyHeadIsSkippedAndInterimHeadsAreKept() throws {
        var receiver = ResponseReceiver(isHead: false, decodes: true, maxBodyBytes: nil)
        try feed("HTTP/1.1 200 Connected\n\n", to: &receiver)
        let isProxyHead = receiver.isReadingProxyHead
        #expect(isProxyHead)
        receiver.didConnect()
        try feed("HTTP/1.1 103 Early Hints\n\nHTTP/1.1 201 Created\nContent-Length: 3\n\n", to: &receiver)
        let (interim, status) = (receiver.interim.map(\.status.code), receiver.response?.status.code)
        #expect(interim == [103])
        #expect(status == 201)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\nContent-Length: 3\n\n", false, 3, false),
            ("HTTP/1.1 200 OK\nContent-Length: 3\n\n", true, 0, false),
            ("HTTP/1.1 204 No Content\n\n", false, 0, false),
            ("HTTP/1.1 304 Not Modified\nContent-Length: 3\n\n", false, 0, false),
            ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", false, nil, false),
            ("HTTP/1.1 200 OK\n\n", false, nil, true),
        ] as [(String, Bool, Int64?, Bool)]
    )
    func headDecidesTheLengthOfTheBody(_ head: String, _ isHead: Bool, _ length: Int64?, _ ends: Bool) throws {
        var receiver = connected(isHead: isHead)
        try feed(head, to: &receiver)
        let (announced, multiplexed) = (receiver.announcedLength, receiver.endsWithConnection(isMultiplexed: true))
        let endsWithConnection = receiver.endsWithConnection(isMultiplexed: false)
        #expect(announced == length)
        #expect(endsWithConnection == ends)
        #expect(!multiplexed)
    }

    @Test func bodyIsDecodedAndCollected() throws {
        var receiver = connected()
        let encoded = try Deflated.gzip(EncodingTests.text)
        try feed("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: \(encoded.count)\n\n", to: &receiver)
        try receiver.prepareBody()
        try receiver.write(to: .collect)
        try receive(encoded.prefix(100), by: &receiver)
        let hasPart = receiver.hasWholeBody
        #expect(!hasPart)
        try receive(encoded.dropFirst(100), by: &receiver)
        let (isWhole, decoded) = (receiver.hasWholeBody, receiver.decodedBytes)
        #expect(isWhole)
        #expect(decoded == Int64(EncodingTests.text.count))
        let body = try receiver.finish(wasTruncated: false, isMultiplexed: false)
        #expect(body == EncodingTests.text)
    }

    @Test func bodyAboveTheLimitIsRejected() throws {
        var announced = connected(maxBodyBytes: 3)
        try feed("HTTP/1.1 200 OK\nContent-Length: 4\n\n", to: &announced)
        let error = failure { () throws(NetworkError) in try announced.prepareBody() }
        #expect(error?.kind == .tooLarge)

        var received = connected(maxBodyBytes: 3)
        try feed("HTTP/1.1 200 OK\n\n", to: &received)
        try received.prepareBody()
        try received.write(to: .collect)
        try receive(Data("abc".utf8), by: &received)
        let later = failure { () throws(NetworkError) in try receive(Data("d".utf8), by: &received) }
        #expect(later?.kind == .tooLarge)
        let partial = received.abandon()
        #expect(partial == Data("abc".utf8))
    }

    @Test(arguments: [
        ("HTTP/1.1 302 Found\nContent-Length: 65536\n\n", false),
        ("HTTP/1.1 302 Found\nContent-Length: 65537\n\n", true),
        ("HTTP/1.1 302 Found\nTransfer-Encoding: chunked\n\n", false),
        ("HTTP/1.1 302 Found\n\n", true),
    ])
    func longDiscardedBodyIsNotRead(_ head: String, _ stops: Bool) throws {
        var receiver = connected()
        try feed(head, to: &receiver)
        receiver.discardBody(isMultiplexed: false)
        let stopsReading = receiver.stopsReadingBody
        #expect(stopsReading == stops)
        try receive(Data(count: 65_536), by: &receiver)
        let error = failure { () throws(NetworkError) in try receive(Data(count: 1), by: &receiver) }
        #expect(error?.kind == .tooLarge)
    }

    @Test(
        arguments: [
            ("", false, "the connection ended before a response"),
            ("HTTP/1.1 200 OK\n", false, "the connection ended in the middle of the response head"),
            ("HTTP/1.1 200 OK\n\n", true, "close_notify"),
            ("HTTP/1.1 200 OK\nContent-Length: 0\n\n", true, nil),
            ("HTTP/1.1 200 OK\n\n", false, nil),
        ] as [(String, Bool, String?)]
    )
    func incompleteResponseIsAnError(_ head: String, _ wasTruncated: Bool, _ text: String?) throws {
        var receiver = connected()
        try feed(head, to: &receiver)
        let error = failure { () throws(NetworkError) in
            _ = try receiver.finish(wasTruncated: wasTruncated, isMultiplexed: false)
        }
        #expect(error == nil || text != nil, "\(String(describing: error))")
        if let text { #expect(error?.message.contains(text) == true) }
    }

    private func failure(of call: () throws(NetworkError) -> Void) -> NetworkError? {
        do throws(NetworkError) {
            try call()
            return nil
        } catch {
            return error
        }
    }
}
