/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs kept inputs, the files or folders of files that it is given, through a
 * fuzzer's function: for compilers without libFuzzer, and to look into one. */

#include "input.h"

#include <glib.h>
#include <unistd.h>

/* Longer than any input takes, even in a sanitizer on a busy machine. */
#define DEADLOCK_SECONDS 60

static void
replay_file(const char *path)
{
  gchar *bytes;
  gsize size;

  CHECK(g_file_get_contents(path, &bytes, &size, NULL), "%s", path);
  printf("%s\n", path);
  fflush(stdout);
  alarm(DEADLOCK_SECONDS);
  LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
  alarm(0);
  g_free(bytes);
}

static void
replay_folder(const char *path)
{
  GDir *folder = g_dir_open(path, 0, NULL);
  const gchar *name;
  guint n = 0;

  CHECK(folder, "%s", path);
  while ((name = g_dir_read_name(folder))) {
    gchar *file = g_build_filename(path, name, NULL);

    replay_file(file);
    g_free(file);
    n++;
  }
  g_dir_close(folder);
  CHECK(n > 0, "%s holds no inputs", path);
}

int
main(int argc, char **argv)
{
  LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; i++) {
    if (g_file_test(argv[i], G_FILE_TEST_IS_DIR))
      replay_folder(argv[i]);
    else
      replay_file(argv[i]);
  }
  return 0;
}
