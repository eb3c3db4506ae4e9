# make demo      fit real data of each family that come with the package, write three pictures
# make install   install into your own library, with the vignettes where they can be made
# make test      run the short tests (BNPVI_LONG_TESTS=true adds the long ones, BNPVI_LONG_TESTS=2/6 runs the second of
#                six parts of the files that have long ones), with memory enough that R seldom collects garbage
# make check     R CMD check (--as-cran where CRAN can be reached), after the builds of tools/builds.R (sanitizers
#                among them) and those for Windows and ARM of tools/elsewhere.R
# make site      build the site of the package in site/, and look for dead links
# make figures   draw the pictures of README.md
# make document  regenerate NAMESPACE, man and the Rcpp exports
# Packages that are missing are installed first; the package itself goes to .lib, for tests to .lib-test.

RSCRIPT = Rscript --no-save --no-restore
SOURCES := $(shell find DESCRIPTION NAMESPACE R data inst src -type f \
             ! -name '*.o' ! -name '*.so' ! -name symbols.rds)

demo: .lib/bnpvi/DESCRIPTION
	R_LIBS=.lib $(RSCRIPT) inst/examples/main.R demo-output

install:
	$(RSCRIPT) tools/setup.R install
	MAKEFLAGS=-j$$(nproc) R CMD build $$($(RSCRIPT) tools/vignettes.R) .
	MAKEFLAGS=-j$$(nproc) R CMD INSTALL bnpvi_*.tar.gz

test: .lib-test/bnpvi/DESCRIPTION
	$(RSCRIPT) tools/setup.R test
	R_LIBS=.lib-test R_ENABLE_JIT=0 $(RSCRIPT) --min-nsize=8M --min-vsize=512M tools/test.R

check:
	$(RSCRIPT) tools/setup.R check
	$(RSCRIPT) tools/builds.R
	$(RSCRIPT) tools/elsewhere.R
	rm -f bnpvi_*.tar.gz
	R CMD build .
	$(RSCRIPT) tools/check.R

site: .lib/bnpvi/DESCRIPTION
	$(RSCRIPT) tools/setup.R site
	R_LIBS=.lib $(RSCRIPT) tools/site.R
	$(RSCRIPT) tools/check-site.R site

figures: .lib/bnpvi/DESCRIPTION
	R_LIBS=.lib $(RSCRIPT) tools/figures.R

document:
	$(RSCRIPT) tools/setup.R document
	$(RSCRIPT) -e 'Rcpp::compileAttributes()' -e 'roxygen2::roxygenise()'

.lib/bnpvi/DESCRIPTION: $(SOURCES)
	$(RSCRIPT) tools/setup.R build
	mkdir -p .lib
	MAKEFLAGS=-j$$(nproc) R CMD INSTALL --preclean --no-docs --no-multiarch --library=.lib .
	touch $@

# The same objects and those that only tests call.
.lib-test/bnpvi/DESCRIPTION: .lib/bnpvi/DESCRIPTION
	mkdir -p .lib-test
	BNPVI_TESTING=1 MAKEFLAGS=-j$$(nproc) R CMD INSTALL --no-docs --no-multiarch --library=.lib-test .
	touch $@

clean:
	rm -rf .lib .lib-test demo-output site src/*.o src/*/*.o src/*/*/*.o src/*.so bnpvi_*.tar.gz bnpvi.Rcheck

.PHONY: demo install test check site figures document clean
