// Apps need only one import.
@_exported public import BeagleNetCache
@_exported public import BeagleNetDependencies
@_exported public import BeagleNetHTTP
@_exported public import BeagleNetRequestBuilder
