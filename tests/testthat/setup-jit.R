# Functions and loops of tests run a few times, which is less work than to compile them first: with R's compiler the
# suite takes a tenth longer. The package itself is compiled when it is installed.
compiled <- compiler::enableJIT(0L)
withr::defer(compiler::enableJIT(compiled), teardown_env())
