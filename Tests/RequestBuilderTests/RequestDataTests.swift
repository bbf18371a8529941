import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation
import Testing

struct RequestDataTests {
    @Test func defaultsAreAGETWithoutHeadersAndBody() {
        let data = Request.RequestData()
        #expect(data.method == "GET")
        #expect(data.headers == [:])
        #expect(data.body == nil)
    }

    @Test func bodyReadsBackAsGiven() throws {
        #expect(Request.RequestData(body: ["a": 1]).body as? [String: Int] == ["a": 1])
        #expect(Request.RequestData(body: "text").body as? String == "text")
        #expect(Request.RequestData(body: .text("text")).body as? Data == Data("text".utf8))
        #expect(Request.RequestData(body: .file(path: "/x")).body == nil)
        #expect(Request.RequestData(body: .encodable([1, 2])).body as? [Int] == [1, 2])
    }

    @Test func jsonBodyCanBeSerializedByFoundation() throws {
        let data = Request.RequestData(method: "POST", body: .json(["a": [1, true, "x"]]))
        let written = try JSONSerialization.data(withJSONObject: data.body ?? [:], options: [.fragmentsAllowed])
        #expect(try JSONValue(parsing: written) == ["a": [1, true, "x"]])
    }

    @Test func additionalDataIsSourceCompatibleWithBeagle() {
        let data = RemoteScreenAdditionalData.Http(
            httpData: .init(method: .PATCH, body: Data([1])),
            headers: ["a": "b"]
        )
        let optional: HttpAdditionalData? = data
        #expect(optional?.httpData?.method.rawValue == "PATCH")
        #expect(optional?.httpData?.body == Data([1]))
        #expect((data as any RemoteScreenAdditionalData as? HttpAdditionalData) == data)
    }
}
