import BeagleNetHTTP
import CBeagleNetCurl

/// WebSockets: transfers whose connection libcurl has made and left to us. Their handle stays in the multi, without
/// which libcurl would close the connection; the poller tells us when their socket stirs.
extension EventLoop {
    /// Where another WebSocket's connection is to be kept; nil where there is no memory for a new group.
    func takeGroup() -> ConnectionGroup? {
        if let nextGroup, nextGroup.takePlace() { return nextGroup }
        nextGroup = ConnectionGroup()
        return nextGroup?.takePlace() == true ? nextGroup : nil
    }

    /// libcurl has made the connection.
    func begin(_ webSocket: WebSocketLink, of transfer: Transfer, _ hop: Hop) {
        guard let socket = hop.easy.activeSocket else {
            return end(
                transfer,
                NetworkError(.network, during: .firstByte, "the connection was lost immediately after it was opened")
            )
        }
        poller.own(socket)
        webSockets[socket] = transfer
        webSocket.begin(on: socket, at: now)
        serve(transfer)
    }

    func serveStirred() {
        for socket in poller.takeStirred() {
            if let transfer = webSockets[socket] { serve(transfer) }
        }
    }

    /// Moves what can be moved over a WebSocket's connection, if it is there already.
    func serve(_ transfer: Transfer) {
        guard let webSocket = transfer.webSocket, let socket = webSocket.socket, let hop = transfer.hop else { return }
        do throws(NetworkError) {
            try webSocket.serve(transfer, hop, at: now)
            poller.watch(socket, webSocket.interest)
            watchDeadline(of: transfer)
        } catch {
            end(transfer, error)
        }
    }

    /// Sends a WebSocket's ping, where it is due.
    func keepAlive(_ transfer: Transfer) {
        if let webSocket = transfer.webSocket, webSocket.pingIfDue(at: now) { serve(transfer) }
    }
}
