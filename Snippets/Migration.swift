// A client that sends the same requests as Beagle 1.10.
import BeagleNet

// snippet.beagle1
Beagle.dependencies.httpRequestBuilder = HttpRequestBuilder(compatibility: .beagle1)
// snippet.end
