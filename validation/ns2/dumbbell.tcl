# One run of ns-2 on a small dumbbell, for comparison with Crosswind.
#
#   ns dumbbell.tcl key=value ...
#
# Senders --access--> router --bottleneck--> far node with all receivers. The loss list acts between the access link and
# the bottleneck queue. All keys come from scenarios.py; none has a default here, so the two sides cannot drift apart.
#
# Output: `key value` lines and one `flow ...` line per flow on stdout, the send trace in the file `trace` (empty = none).

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

proc sink_class {} {
    global opt
    set class Agent/TCPSink
    if {$opt(sack)} { append class /Sack1 }
    if {$opt(delayed_ack)} { append class /DelAck }
    return $class
}

proc set_defaults {} {
    global opt
    Agent/TCP set window_ $opt(window)
    Agent/TCP set packetSize_ $opt(packet_size)
    Agent/TCP set ecn_ $opt(ecn)
    Agent/TCP set increase_num_ $opt(increase)
    Agent/TCP set decrease_num_ $opt(kept)
    Agent/TCPSink/DelAck set interval_ $opt(delayed_ack_ms)ms
    Agent/TCPSink/Sack1/DelAck set interval_ $opt(delayed_ack_ms)ms
    if {$opt(queue) == "RED"} {
        Queue/RED set setbit_ [expr {$opt(ecn) ? "true" : "false"}]
        Queue/RED set gentle_ true
        Queue/RED set mean_pktsize_ $opt(red_mean_packet)
        Queue/RED set linterm_ $opt(red_linterm)
        Queue/RED set thresh_ $opt(red_min)
        Queue/RED set maxthresh_ $opt(red_max)
        Queue/RED set q_weight_ $opt(red_weight)
    }
}

# The moment at which the last byte was acknowledged; ns-2 calls this on the agent.
Agent/TCP instproc done {} {
    global finished ns
    set finished($self) [$ns now]
}

proc report {} {
    global opt ns senders monitor bytes_integral packets_integral finished started tick_phase_s
    set now [$ns now]
    puts "tick_phase_s [format %.12g $tick_phase_s]"
    puts "queue_mean_packets [format %.9g [expr {[queue_integral $packets_integral $now] / $now}]]"
    puts "queue_mean_bytes [format %.9g [expr {[queue_integral $bytes_integral $now] / $now}]]"
    puts "bottleneck_drops [$monitor set pdrops_]"
    puts "bottleneck_packets [$monitor set pdepartures_]"
    set i 0
    foreach tcp $senders {
        set end [expr {[info exists finished($tcp)] ? $finished($tcp) : -1}]
        puts "flow $i start_s $started($i) done_s $end acked [$tcp set ack_] sent [$tcp set ndatapack_]\
              resent [$tcp set nrexmitpack_] timeouts [$tcp set nrexmit_] ecn [$tcp set necnresponses_]"
        incr i
    }
    exit 0
}

proc queue_integral {integrator now} {
    $integrator newpoint $now [$integrator set lasty_]
    return [$integrator set sum_]
}

proc build_path {} {
    global opt ns router far monitor bytes_integral packets_integral
    set router [$ns node]
    set far [$ns node]
    $ns simplex-link $router $far $opt(rate_bps) $opt(delay_s) $opt(queue)
    $ns simplex-link $far $router $opt(rate_bps) $opt(delay_s) DropTail
    $ns queue-limit $router $far $opt(limit)
    $ns queue-limit $far $router 100000
    set monitor [$ns monitor-queue $router $far ""]
    set bytes_integral [$monitor get-bytes-integrator]
    set packets_integral [$monitor get-pkts-integrator]
    if {[llength $opt(drops)] > 0} {
        set losses [new ErrorModel/List]
        $losses droplist $opt(drops)
        $losses drop-target [new Agent/Null]
        $ns lossmodel $losses $router $far
    }
}

proc attach_ends {flow} {
    global opt ns router far trace
    set near [$ns node]
    $ns duplex-link $near $router $opt(access_rate_bps) $opt(access_delay_s) DropTail
    $ns queue-limit $near $router 100000
    $ns queue-limit $router $near 100000
    if {$trace != ""} { $ns trace-queue $near $router $trace }
    return [list $near $far]
}

proc add_flow {flow start} {
    global opt ns senders started
    set ends [attach_ends $flow]
    set tcp [new $opt(agent)]
    set sink [new [sink_class]]
    $tcp set fid_ $flow
    $ns attach-agent [lindex $ends 0] $tcp
    $ns attach-agent [lindex $ends 1] $sink
    $ns connect $tcp $sink
    if {$opt(linux_law) != ""} { $ns at 0 "$tcp select_ca $opt(linux_law)" }
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    if {$opt(segments) > 0} {
        $ns at $start "$ftp produce $opt(segments)"
    } else {
        $ns at $start "$ftp start"
    }
    lappend senders $tcp
    set started($flow) $start
}

set ns [new Simulator]
set_defaults
set trace [expr {$opt(trace) == "" ? "" : [open $opt(trace) w]}]
set senders {}
build_path
set flow 0
foreach start $opt(starts) {
    add_flow $flow $start
    incr flow
}
$ns at $opt(duration_s) report

# Every agent draws the phase of its 10 ms clock when the run starts, from the default generator. With one agent the
# draw is the first one, so a second generator with the same seed tells us what it was.
set twin [new RNG]
$twin seed $opt(seed)
set tick_phase_s [$twin uniform 0 [Agent/TCP set tcpTick_]]
$defaultRNG seed $opt(seed)
$ns run
