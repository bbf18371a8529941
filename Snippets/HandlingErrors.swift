// A `do` block in which more than one type of error is thrown.
import BeagleNet
import Foundation

func loadScreen(to file: URL) async {
    // snippet.errors
    do {
        let screen = try await Beagle.dependencies.networkClient.fetch("/home", as: JSONValue.self)
        try JSONEncoder().encode(screen).write(to: file)
    } catch let error as NetworkError where error.isOffline {
        print("You are offline.")
    } catch {
        print(error)
    }
    // snippet.end
}

await loadScreen(to: URL(fileURLWithPath: "/dev/null"))
