# SPDX-License-Identifier: GPL-2.0
# Reports are looked at here, and what is installed beside the command is made. Included by the Makefile.

PREFIX  ?= /usr/local
DESTDIR ?=
# Where it all goes; $1 is what comes between.
INTO     = $(DESTDIR)$(PREFIX)/$1
SHARED  := $(sort $(wildcard scenarios/*.tsv scenarios/*.md scenarios/lib/*.lua scenarios/*/*.lua scenarios/*/*/*.lua))

.PHONY: man install uninstall check-reports report-picture

$(B)/lightiov.1: sim/lightiov.1.scd
	$(call say,MAN)mkdir -p $(@D) && scdoc < $< > $@

man: ## build build/lightiov.1 from sim/lightiov.1.scd
	@harness/deps man
	@$(MAKE) -s $(B)/lightiov.1

install: all man ## the command, man page, bash completion and scenarios; DESTDIR= and PREFIX= (/usr/local)
	@install -d $(call INTO,bin) $(call INTO,share/man/man1) $(call INTO,share/bash-completion/completions) $(call INTO,share/lightiov)
	@install -m 755 $(B)/lightiov $(call INTO,bin/lightiov)
	@install -m 644 $(B)/lightiov.1 $(call INTO,share/man/man1/lightiov.1)
	@install -m 644 sim/lightiov.bash $(call INTO,share/bash-completion/completions/lightiov)
	@install -m 644 harness/report/result.schema.json $(call INTO,share/lightiov/result.schema.json)
	@for f in $(SHARED); do install -D -m 644 $$f $(call INTO,share/lightiov)/$$f || exit; done

# Files by name, then the folders that are left empty: what else is there stays.
uninstall: ## what make install put there
	@rm -f $(call INTO,bin/lightiov) $(call INTO,share/man/man1/lightiov.1) $(call INTO,share/bash-completion/completions/lightiov)
	@cd $(call INTO,share/lightiov) 2> /dev/null || exit 0; rm -f result.schema.json $(SHARED); \
	 find scenarios -depth -type d -empty -delete 2> /dev/null; cd ..; rmdir lightiov 2> /dev/null || :

check-reports: all ## the page in a browser; JSON, SARIF, JUnit and trace by schema and rules; man page, completion, install
	@harness/deps build man report
	@$(MAKE) -s $(B)/lightiov.1
	@JOBS=$(JOBS) harness/report/check $(B)/lightiov $(B)/lightiov.1 $(B)/report

report-picture: all ## draw harness/report/matrix.png, README's picture, anew
	@harness/deps build report
	@mkdir -p $(B)/report
	@$(B)/lightiov matrix --jobs $(JOBS) --html $(B)/report/picture.html scenarios/malicious > /dev/null
	@harness/report/picture $(B)/report/picture.html harness/report/matrix.png $(B)/report/profile
