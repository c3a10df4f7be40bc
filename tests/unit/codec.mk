# unit tests of codec
codec_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-block %D%/test-layout
%C%_test_block_SOURCES = %D%/test-block.c %D%/page-builder.c %D%/page-builder.h
%C%_test_block_CFLAGS = $(codec_test_cflags)
%C%_test_block_LDADD  = $(codec_libs) $(CHECK_LIBS)
%C%_test_layout_SOURCES = %D%/test-layout.c %D%/page-builder.c %D%/page-builder.h
%C%_test_layout_CFLAGS = $(codec_test_cflags)
%C%_test_layout_LDADD  = $(codec_libs) $(CHECK_LIBS)
unit_tests += %D%/test-damage %D%/test-sealed
%C%_test_damage_SOURCES = %D%/test-damage.c %D%/page-builder.c %D%/page-builder.h
%C%_test_damage_CFLAGS  = $(codec_test_cflags)
%C%_test_damage_LDADD   = $(codec_libs) $(CHECK_LIBS)
%C%_test_sealed_SOURCES = %D%/test-sealed.c %D%/page-builder.c %D%/page-builder.h
%C%_test_sealed_CFLAGS  = $(codec_test_cflags)
%C%_test_sealed_LDADD   = $(codec_libs) $(CHECK_LIBS)
EXTRA_DIST += %D%/sealing.h
