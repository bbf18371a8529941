// One import is enough for a user.
@_exported public import BeagleNetCache
@_exported public import BeagleNetDependencies
@_exported public import BeagleNetHTTP
@_exported public import BeagleNetRequestBuilder
