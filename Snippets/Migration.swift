// A client that sends what Beagle 1.10 sends.
import BeagleNet

// snippet.beagle1
Beagle.dependencies.httpRequestBuilder = HttpRequestBuilder(compatibility: .beagle1)
// snippet.end
