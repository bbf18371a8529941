import BeagleNetHTTP
import CBeagleNetCurl

/// WebSockets: transfers whose connection libcurl has opened and handed over to us. Their handle stays in the multi
/// handle, because libcurl would otherwise close the connection. The poller reports events on their sockets.
extension EventLoop {
    /// Returns the group for another WebSocket's connection, or `nil` if there isn't enough memory for a new group.
    func takeGroup() -> ConnectionGroup? {
        if let nextGroup, nextGroup.takePlace() { return nextGroup }
        nextGroup = ConnectionGroup()
        return nextGroup?.takePlace() == true ? nextGroup : nil
    }

    /// Starts a WebSocket on the connection that libcurl has opened.
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

    func serveReady() {
        for socket in poller.takeReady() {
            if let transfer = webSockets[socket] { serve(transfer) }
        }
    }

    /// Sends and receives as much as possible on a WebSocket's connection, if it is open.
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

    /// Sends a WebSocket's ping if it is due.
    func keepAlive(_ transfer: Transfer) {
        if let webSocket = transfer.webSocket, webSocket.pingIfDue(at: now) { serve(transfer) }
    }
}
