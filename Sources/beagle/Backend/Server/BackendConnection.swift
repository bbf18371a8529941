import BeagleNetHTTP
import Foundation

/// A connection whose requests are answered one after another, on the thread that runs it.
struct BackendConnection {
    private let socket: BackendSocket
    private let reader: BackendReader
    private let respond: (BackendRequest) throws -> BackendResponse

    /// - Parameters:
    ///   - headTime: The maximum time for receiving a request head.
    ///   - respond: Returns the response to a request. An error ends the connection, after a response if it is a
    ///     `RequestFault`.
    init(
        _ socket: BackendSocket,
        headTime: Duration,
        respond: @escaping (BackendRequest) throws -> BackendResponse
    ) {
        self.socket = socket
        reader = BackendReader(socket, headTime: headTime)
        self.respond = respond
    }

    /// Serves requests until either side ends the connection.
    func serve() {
        do {
            while let request = try BackendRequest(from: reader) {
                guard try serve(request) else { return }
            }
        } catch let fault as RequestFault {
            reject(fault)
        } catch {
            // The client has disconnected, or a route wants to drop the connection.
        }
    }

    /// - Returns: Whether another request may follow.
    private func serve(_ request: BackendRequest) throws -> Bool {
        try send(respond(request), to: request)
    }

    private func reject(_ fault: RequestFault) {
        do {
            var response = try BackendResponse.problem(fault.status, fault.reason)
            response.fields[.connection] = "close"
            guard case .data(let body) = response.body else { return }
            response.fields[.contentLength] = String(body.count)
            try socket.write(Self.head(of: response) + body)
            try closeGracefully()
        } catch {
            // The client has disconnected.
        }
    }

    private func send(_ response: BackendResponse, to request: BackendRequest) throws -> Bool {
        var response = response
        let isWhole = request.body.isAtEnd
        var closesConnection = request.closesConnection || !isWhole && request.body.expectsContinue
        switch response.body {
        case .data(let body):
            let hasBody = response.status.code >= 200 && ![204, 304].contains(response.status.code)
            if hasBody { response.fields[.contentLength] = String(body.count) }
            if closesConnection { response.fields[.connection] = "close" }
            try socket.write(Self.head(of: response) + (hasBody && request.method != "HEAD" ? body : Data()))
        case .lost:
            response.fields[.contentLength] = "1"
            try socket.write(Self.head(of: response))
            return false
        case .stream(let write):
            closesConnection = closesConnection || !request.isHTTP11
            if request.isHTTP11 { response.fields[.transferEncoding] = "chunked" }
            if closesConnection { response.fields[.connection] = "close" }
            try socket.write(Self.head(of: response))
            if request.method != "HEAD" { try send(write, isChunked: request.isHTTP11) }
        case .webSocket(let converse):
            try socket.write(Self.head(of: response))
            try converse(BackendWebSocket(reader))
            return false
        }
        guard closesConnection else { return request.body.discard() }
        if !request.body.isAtEnd { try closeGracefully() }
        return false
    }

    /// Closes the sending side, and gives the client time to read the response before the connection is closed.
    private func closeGracefully() throws {
        socket.finish()
        try reader.drain(for: .seconds(2))
    }

    private func send(_ write: (_ send: (Data) throws -> Void) throws -> Void, isChunked: Bool) throws {
        try write { piece in
            guard !piece.isEmpty else { return }
            let size = isChunked ? Data("\(String(piece.count, radix: 16))\r\n".utf8) : Data()
            try socket.write(size + piece + (isChunked ? Data("\r\n".utf8) : Data()))
        }
        if isChunked { try socket.write(Data("0\r\n\r\n".utf8)) }
    }

    private static func head(of response: BackendResponse) -> Data {
        let lines = response.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
        return Data("HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)\r\n\(lines)\r\n".utf8)
    }
}
