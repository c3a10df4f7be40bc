# unit tests of daemon
