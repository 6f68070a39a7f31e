/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstgpuhistogram.h"

/* The same on every machine: what there is to count with shows at the start
 * of an element. */
static gboolean
plugin_init(GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER(gpuhistogram, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, gpuhistogram,
                  "Exact histograms of video frames", plugin_init,
                  PACKAGE_VERSION, "LGPL", "gpuhistogram",
                  "https://gstreamer.freedesktop.org")
