import BeagleNetHTTP
import Foundation

extension BackendRoutes {
    /// The routes with planted faults, which `beagle crawl` finds from `/faults`. Others that the screens name are missing.
    static let faults: Set = [
        "/faults", "/faults/loop", "/faults/slow", "/faults/malformed", "/faults/heavy.png", "/faults/text.png",
    ]

    /// Returns the response of a route with a fault.
    static func fault(_ request: BackendRequest) throws -> BackendResponse {
        switch request.path {
        case "/faults": return try text(DemoScreens.faults, for: request)
        case "/faults/loop": return try text(DemoScreens.loop, for: request)
        case "/faults/heavy.png": return try tagged(heavyImage, "image/png", "max-age=3600", for: request)
        case "/faults/slow":
            // It is slow only if the client asks for that, for at most 5 s.
            let delay = min(5_000, max(0, request.item("delay").flatMap(Int.init) ?? 0))
            try request.body.pause(.milliseconds(delay))
            return try text(DemoScreens.greeting("At last"), for: request)
        case "/faults/text.png": return BackendResponse(.ok, [.contentType: "image/png"], Data("no image".utf8))
        default:
            return BackendResponse(.ok, [.contentType: "application/json"], Data(DemoScreens.malformed.utf8))
        }
    }

    /// An image of 1.2 MB: most of it follows the end of the PNG, where decoders ignore it.
    private static let heavyImage = logo + Data(count: 1_200_000)
}
